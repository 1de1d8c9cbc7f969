from hypothesis import settings

# The machines that run the tests are shared: a slow example is no failure.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")
