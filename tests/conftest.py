"""No test reads or changes what the user who runs it has allowed."""

import pytest
from hypothesis import HealthCheck, settings

# No test fails because the machine is busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
# pytest --hypothesis-profile=long tests/test_fuzz.py
settings.register_profile("long", settings.get_profile("untimed"), max_examples=2000)


@pytest.fixture(autouse=True, scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> pytest.MonkeyPatch:
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    return patch
