"""Campaigns: a declared metric compared between two arms on paired cases, ending in a verdict that can be defended."""
