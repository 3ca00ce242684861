"""What goes into the clients' configurations, as pure edits of their text: nothing here touches a file."""
