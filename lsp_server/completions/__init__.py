"""Completion at a cursor while somebody types: sessions, pauses, what is asked, what is shown."""
