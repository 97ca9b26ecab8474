# A deployment of Baton from the package that this folder is in: uploads its code, and gives its template to
# CloudFormation, which keeps the state of everything in it.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "name" {
  description = "The stack's name, of at most 42 characters."
  type        = string
  default     = "baton"
}

variable "bucket" {
  description = "A bucket in the deployment's region, for the code."
  type        = string
}

variable "parameters" {
  description = "Parameters of the deployment (docs/operations.md), as texts."
  type        = map(string)
  default     = {}
}

variable "tags" {
  description = "Tags of every resource that takes any."
  type        = map(string)
  default     = {}
}

locals {
  package  = "${path.module}/.."
  template = "${local.package}/template.json"
  prefix   = "${var.name}/"
  # Callers come to the versions of functions that were published with it: another one for each change of anything.
  release = substr(sha256(jsonencode([filesha256(local.template), var.parameters])), 0, 16)
}

data "aws_s3_bucket" "code" {
  bucket = var.bucket
}

resource "aws_s3_object" "code" {
  for_each = fileset("${local.package}/code", "*.zip")
  bucket   = var.bucket
  key      = "${local.prefix}${each.value}"
  source   = "${local.package}/code/${each.value}"

  lifecycle {
    create_before_destroy = true # what an upgrade replaces is there until the stack has the new code
  }
}

resource "aws_s3_object" "template" {
  bucket = var.bucket
  key    = "${local.prefix}template-${filesha256(local.template)}.json"
  source = local.template
}

resource "aws_cloudformation_stack" "baton" {
  depends_on   = [aws_s3_object.code]
  name         = var.name
  template_url = "https://${data.aws_s3_bucket.code.bucket_regional_domain_name}/${aws_s3_object.template.key}"
  capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
  parameters   = merge(var.parameters, { CodeBucket = var.bucket, CodePrefix = local.prefix, Release = local.release })
  tags         = merge({ application = "baton" }, var.tags)
}

output "outputs" {
  description = "The stack's: ApiUrl, TableName and the others."
  value       = aws_cloudformation_stack.baton.outputs
}
