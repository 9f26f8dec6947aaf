// Holds the precompiled header; every other target reuses it.
