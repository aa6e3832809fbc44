"""What is healthy: thresholds, and the rules that follow from them."""
