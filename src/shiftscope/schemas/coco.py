"""COCO: the 80 kinds of objects that have boxes, in the order in which YOLO numbers them."""

from ..schema import Attribute, Schema

NAMES = (
    *("person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat"),
    *("traffic light", "fire hydrant", "stop sign", "parking meter", "bench"),
    *("bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe"),
    *("backpack", "umbrella", "handbag", "tie", "suitcase"),
    *("frisbee", "skis", "snowboard", "sports ball", "kite", "baseball bat", "baseball glove"),
    *("skateboard", "surfboard", "tennis racket"),
    *("bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl"),
    *("banana", "apple", "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake"),
    *("chair", "couch", "potted plant", "bed", "dining table", "toilet"),
    *("tv", "laptop", "mouse", "remote", "keyboard", "cell phone"),
    *("microwave", "oven", "toaster", "sink", "refrigerator"),
    *("book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush"),
)

# Only what a thing *is*; COCO's other groups (kitchen, outdoor, …) say where it is found.
KINDS = (
    ("vehicle", NAMES[1:9]),
    ("animal", NAMES[14:24]),
    ("food", NAMES[46:56]),
    ("furniture", ("chair", "couch", "bed", "dining table")),
    ("appliance", ("microwave", "oven", "toaster", "refrigerator")),
)

SCHEMA = Schema(name="coco", attributes=(Attribute("name", NAMES, KINDS),), closed=False)
