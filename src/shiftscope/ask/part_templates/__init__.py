"""Our own templates about parts: one file a group, each a function of the schema.

A scene knows the parts that have attributes of their own, while a picture shows every wheel of every vehicle.
So texts speak of *repainted* parts wherever a plain description would take in others; `wording.py` leaves the
word out where the part of one vehicle is named outright.
"""
