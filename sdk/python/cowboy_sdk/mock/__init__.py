"""Parts of `mock_host`, which actors never see."""
