"""The drill of docs/operations.md: a stack goes on with a table that was restored as of a moment, and what came after
that moment never happened. Then the stack is removed. The local engine restores the table as it is; on AWS it would be
as it was."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from baton.domain.numbers import dumps
from baton.domain.task_state import State
from baton.domain.times import parse_rfc3339
from infra.template import load
from infra.translated import translated
from support.worlds.deployed import Deployed, until
from support.worlds.second_stack import SecondStack
from support.worlds.tenant import Tenant, new_workspace
from tools.admin import existing_table, verify_trail
from tools.admin.workspace_data import WorkspaceData
from tools.stack.engine import REGION

RESTORED = "baton-second-restored"
QUEUE = f"arn:aws:sqs:{REGION}:{'0' * 12}:somebodys"
HOUR = 3600
UNPROTECTED = [{"ParameterKey": "DeletionProtection", "ParameterValue": "false"}]
FAR = parse_rfc3339("2100-01-01T00:00:00Z")


def restored(second: SecondStack, source: str) -> str:
    """What is to be deployed, once the table is ready."""
    dynamo = second.first.dynamo
    dynamo.restore_table_to_point_in_time(
        SourceTableName=source, TargetTableName=RESTORED, UseLatestRestorableTime=True
    )
    dynamo.get_waiter("table_exists").wait(TableName=RESTORED)
    return f"ExistingTable={RESTORED} ExistingTableStream="


def adopted(second: SecondStack) -> str:
    said: list[str] = []
    key = second.parameters()["KmsKey"]
    label = existing_table.adopt(second.first.dynamo, RESTORED, said.append, lambda _seconds: None, kms_key=key)
    assert any("no stream" in line for line in said)
    return label


def completed(tenant: Tenant, claim: dict[str, object], task_id: str) -> str:
    """The state after it, or why it was refused."""
    body = {"claim_id": claim["claim_id"], "output": {"done": True}}
    response = tenant.reviewer.send("POST", f"/tasks/{task_id}/complete", body)
    return str(response.json()["state"] if response.is_success else response.json()["code"])


def verified(of: Deployed, workspace: str) -> str:
    lines = WorkspaceData(of.deps, of.dynamo, of.stack.table, workspace).export()
    return verify_trail.verify_export("".join(dumps(line, ensure_ascii=False) + "\n" for line in lines))


def streams_heard(of: Deployed) -> list[str]:
    """Those that bring events to the publisher."""
    function = f"{of.stack.functions['PublishEvents']}:live"
    mappings = of.aws("lambda").list_event_source_mappings(FunctionName=function)["EventSourceMappings"]
    return [each["EventSourceArn"] for each in mappings]


def untold(of: Deployed) -> set[str]:
    """The tasks of which the bus doesn't know everything yet."""
    return {each.task_id for page in of.deps.store.outbox.pending_tasks(FAR) for each in page if each.events}


def test_a_stack_goes_on_with_a_restored_table_and_what_came_later_never_happened(second: SecondStack) -> None:
    before = second.opened()
    tenant = new_workspace(before, sources=4)
    needing, (done, held, ready) = tenant.needing(), [tenant.approved(source_agent=each) for each in tenant.sources[:3]]
    assert completed(tenant, tenant.claim(done), done) == "done"
    live = tenant.claim(held)
    lost = before.stack.table
    parameters = restored(second, lost)

    # What happens from here on is lost with the table.
    tenant.human.post(f"/tasks/{needing}/approve")
    assert completed(tenant, live, held) == "done"
    too_late = tenant.claim(ready)
    unknown = tenant.approved(source_agent=tenant.sources[3])
    revoked = tenant.scout
    tenant.human.ok("DELETE", f"/tokens/{str(revoked.token).split('_')[1]}")
    assert revoked.send("GET", f"/tasks/{needing}").status_code == 403

    assert "no stream, no deletion protection" in second.refused(PARAMS=f"{parameters}2020-01-01T00:00:00.000")
    second.deploy(PARAMS=f"{parameters}{adopted(second)}")
    after = second.opened()
    assert (after.stack.table, after.stack.api_url) == (RESTORED, before.stack.api_url)
    assert verified(after, tenant.name).startswith("4 trails")

    states = {task_id: tenant.task(task_id)["state"] for task_id in (needing, done, held, ready)}
    assert list(states.values()) == ["needs", "done", "claimed", "delegated"]
    assert tenant.human.refused("GET", f"/tasks/{unknown}") == (404, "not_found")
    assert revoked.send("GET", f"/tasks/{needing}").status_code == 200, "to be revoked once more"

    # Who claimed since is too late, whoever claimed before loses the claim with the end of its lease.
    assert completed(tenant, too_late, ready) == "stale_claim"
    after.age(tenant.name, held, HOUR)
    after.sweep()
    again = tenant.claim(held, "w-2")
    assert (again["fence"], len(again["recoveries"])) == (live["fence"] + 1, 1)
    assert completed(tenant, live, held) == "stale_claim"
    assert completed(tenant, again, held) == "done"
    assert completed(tenant, tenant.claim(ready, "w-2"), ready) == "done"
    tenant.human.post(f"/tasks/{needing}/approve")

    # Its stream brings what is new to the bus. (What was new at that moment waits for the look of each minute.)
    fresh = tenant.approved(source_agent=tenant.sources[3])
    assert [each.split("/")[1] for each in streams_heard(after)] == [RESTORED]
    until(lambda: fresh not in untold(after))
    assert verified(after, tenant.name).startswith("5 trails")
    assert before.deps.store.tasks.load(tenant.name, unknown)[0].state is State.DELEGATED, "the lost table is as it was"


def test_a_removed_stack_leaves_its_tables_and_its_secrets_until_somebody_deletes_them(second: SecondStack) -> None:
    dynamo, secrets, logs, events = (
        second.first.aws(each) for each in ("dynamodb", "secretsmanager", "logs", "events")
    )
    made, table, groups = second.resources(), second.opened().stack.table, f"/aws/lambda/{second.name}-"
    assert logs.describe_log_groups(logGroupNamePrefix=groups)["logGroups"]
    rule = {"Name": "somebodys", "EventBusName": made["Bus"]}
    events.put_rule(**rule, EventPattern='{"source": ["baton"]}')
    events.put_targets(Rule=rule["Name"], EventBusName=made["Bus"], Targets=[{"Id": "queue", "Arn": QUEUE}])
    refused = second.refused("remove")
    assert f"--event-bus-name {made['Bus']} --rule somebodys --ids queue" in refused
    assert logs.describe_log_groups(logGroupNamePrefix=groups)["logGroups"]
    events.remove_targets(Rule=rule["Name"], EventBusName=made["Bus"], Ids=["queue"])
    events.delete_rule(**rule)

    said = second.remove()
    assert f"delete-table --region {REGION} --table-name {table}" in said
    assert logs.describe_log_groups(logGroupNamePrefix=groups)["logGroups"] == []
    assert dynamo.scan(TableName=table, Limit=1)["Count"] == 1
    assert len(secrets.get_secret_value(SecretId=made["CallbackKey"])["SecretString"]) == 64

    if table == RESTORED:  # the one that `make adopt` has protected
        with pytest.raises(ClientError, match="protect"):
            dynamo.delete_table(TableName=table)
    dynamo.update_table(TableName=table, DeletionProtectionEnabled=False)
    dynamo.delete_table(TableName=table)
    secrets.delete_secret(SecretId=made["CallbackKey"], RecoveryWindowInDays=7)
    with pytest.raises(ClientError, match="ResourceNotFound"):
        dynamo.describe_table(TableName=table)


def test_a_first_deployment_that_fails_leaves_no_table_and_no_key(deployed: Deployed) -> None:
    """What of the template holds data, beside something that AWS refuses."""
    template = translated(load())
    kept = {name: template["Resources"][name] for name in ("Table", "CallbackKey")}
    refused = {"Type": "AWS::SQS::Queue", "DependsOn": [*kept], "Properties": {"VisibilityTimeout": 43_201}}
    body = {**template, "Resources": {**kept, "Refused": refused}, "Outputs": {}}
    cloudformation, name = deployed.aws("cloudformation"), "baton-refused"
    cloudformation.create_stack(StackName=name, TemplateBody=json.dumps(body), Parameters=UNPROTECTED)
    until(lambda: cloudformation.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"] == "ROLLBACK_COMPLETE")
    assert [each for each in deployed.dynamo.list_tables()["TableNames"] if each.startswith(name)] == []
    assert name not in str(deployed.aws("secretsmanager").list_secrets()["SecretList"])
    cloudformation.delete_stack(StackName=name)
