"""Steps of the tracker."""
