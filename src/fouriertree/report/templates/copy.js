"use strict";
// A button for everything that can be copied. Without this script the text can still be marked by hand.
for (const box of document.querySelectorAll("pre.copy")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    const code = box.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "press Ctrl-C";
    }
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  });
  const around = document.createElement("div");
  around.className = "copying";
  box.replaceWith(around);
  around.append(box, button);
}
