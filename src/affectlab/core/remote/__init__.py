"""What lies outside this process: clusters, services that answer, addresses."""
