-- The agent service has its own database; the image creates the gateway's.
create database agent;
