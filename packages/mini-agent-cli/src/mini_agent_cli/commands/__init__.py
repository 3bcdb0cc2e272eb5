"""The slash commands of a conversation, one small file each; ``registry`` holds them all."""
