-- The agent service has a database of its own; that of the gateway is made by the image.
create database agent;
