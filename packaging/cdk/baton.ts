// A deployment of Baton from the package that this folder is in, as a nested stack of yours.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CfnStack } from "aws-cdk-lib";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { Asset } from "aws-cdk-lib/aws-s3-assets";
import { BucketDeployment, Source } from "aws-cdk-lib/aws-s3-deployment";
import { Construct } from "constructs";

export interface BatonProps {
  /** Where the package was unpacked. */
  readonly folder: string;
  /** Parameters of the deployment (docs/operations.md), as texts. */
  readonly parameters?: Record<string, string>;
}

export class Baton extends Construct {
  readonly stack: CfnStack;

  constructor(scope: Construct, id: string, props: BatonProps) {
    super(scope, id);
    const template = join(props.folder, "template.json");
    const parameters = props.parameters ?? {};
    const code = new BucketDeployment(this, "Code", {
      sources: [Source.asset(join(props.folder, "code"))],
      destinationBucket: new Bucket(this, "Bucket"),
      prune: false, // what runs stays while an upgrade may still roll back
      memoryLimit: 512,
    });
    // Callers come to the versions of functions that were published with it: another one for each change of anything.
    const release = createHash("sha256").update(readFileSync(template)).update(JSON.stringify(parameters)).digest("hex");
    this.stack = new CfnStack(this, "Stack", {
      templateUrl: new Asset(this, "Template", { path: template }).httpUrl,
      parameters: { ...parameters, CodeBucket: code.deployedBucket.bucketName, CodePrefix: "", Release: release.slice(0, 16) },
    });
  }

  /** An output of the deployment, such as ApiUrl or TableName. */
  output(name: string): string {
    return this.stack.getAtt(`Outputs.${name}`).toString();
  }
}
