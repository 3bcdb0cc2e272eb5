"""The book's pages: code, diffs and transcripts are only ever generated into them."""
