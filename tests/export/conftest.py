from hypothesis import settings

# Processors may be shared: a slow example is not a failure.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")
