"""What models that look at an image's regions share: region features and their files, the encoder, the stage."""
