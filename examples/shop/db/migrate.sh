#!/bin/sh
echo "migrated $1"
