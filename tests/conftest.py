"""No test reads or changes what the user who runs it has allowed."""

import pytest
from hypothesis import HealthCheck, settings

# pytest --hypothesis-profile=long tests/test_fuzz.py
settings.register_profile("long", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(autouse=True, scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> pytest.MonkeyPatch:
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    return patch
