"""What the ports are made of: DynamoDB and SQS, and their twins in memory."""
