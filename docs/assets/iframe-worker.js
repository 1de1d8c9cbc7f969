// Browsers start no worker from a file; so that search works there, too, its script runs in a hidden frame instead.
// The theme asks for this name.
class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.inside = frame.contentWindow;
    this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = this.inside.document.createElement("script");
    // Messages wait until there is someone to read them.
    this.ready = new Promise((resolve) => { script.onload = resolve; });
    script.src = url;
    this.inside.document.body.append(script);
  }

  postMessage(data) {
    this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
  }

  terminate() {
    this.inside.frameElement.remove();
  }
}

if (location.protocol === "file:") {
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
