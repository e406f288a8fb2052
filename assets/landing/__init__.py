"""Landing: objects of the artifact store become bytes in `raw_artifacts`, exactly as they arrived."""
