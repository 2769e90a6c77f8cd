"""What people and programs meet: each surface is a thin translation of App, Session and the event stream."""
