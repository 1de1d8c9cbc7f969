from hypothesis import HealthCheck, settings

# Machines under load: a slow example is no failure.
settings.register_profile("hostile", deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("hostile")
