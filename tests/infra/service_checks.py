"""Promises of template.yaml about functions, HTTP, the schedule and the alarms."""

from __future__ import annotations

import json
import re
from importlib import import_module

from baton.ports.memory import LATE_SECONDS
from infra.data_checks import GRANTED_ONLY_TO, SECRETS, TRACKER
from infra.register import Problems, check, check_of
from infra.template import (
    GATEWAY,
    ROOT,
    URL,
    Template,
    called,
    environment,
    events,
    functions,
    grants,
    name_of,
    of_type,
)
from infra.translated import translated
from rest.app import App
from tools.admin.deploy_answers import LEAST_LEFT

RINGING_THE_TRACKER = GRANTED_ONLY_TO[("sqs:SendMessage", TRACKER)]
ASKING_THE_TRACKER = GRANTED_ONLY_TO[("secretsmanager:GetSecretValue", SECRETS)]
KEEPING_TOKENS = GRANTED_ONLY_TO[("secretsmanager:CreateSecret", SECRETS)]
GIVING_OUT_NO_WORK = {"Console", "NotionWebhook", "PublishEvents", "Listen", "Ring"}
EVERY_MINUTE = ["PublishEvents", "SweepStaleClaims"]
WELL_KNOWN = {"GET /.well-known/{proxy+}", "GET /mcp/.well-known/{proxy+}"}
OPEN_ROUTES = {
    "GET /healthz",
    "POST /notion/webhook/{secret}",
    "POST /callbacks/{token}",
    "POST /sessions/redeem",
} | WELL_KNOWN
# Files for everybody: their function checks no token, as it has nothing to keep from anybody.
PAGES = {"ANY /console", "ANY /console/{proxy+}"}
FILES = "ANY /console/{proxy+}"
# The first has the routes of functions that aren't there beside it; the second plays theirs.
PACKAGED_WITH = {
    "AllRoutes": ("api", "console", "create_handoff_marker", "mcp_door", "notion_webhook", "wait"),
    "McpDoor": ("api", "create_handoff_marker", "wait"),
}
ROUTED = {
    "POST /handoff-markers": "CreateHandoffMarker",
    "GET /tasks/{task_id}/await": "Wait",
    "GET /tasks/{task_id}/events/wait": "Wait",
    "POST /agents/{slug}/claims/wait": "Wait",
    "POST /mcp": "McpDoor",
    **dict.fromkeys(WELL_KNOWN, "McpDoor"),
    **dict.fromkeys(PAGES, "Console"),
    "POST /notion/webhook/{secret}": "NotionWebhook",
    "POST /callbacks/{token}": "Api",
    "POST /sessions/redeem": "Api",
    "GET /healthz": "Api",
    "$default": "Api",
}
FUNCTION_URL = "AWS::Lambda::Url"
OWN_URL = {
    "Fn::If": [
        "IsLocal",
        {"Fn::Sub": "http://{id}.lambda-url.${AWS::Region}.localhost:${LocalPort}"},
        {"Fn::Sub": "https://{id}.lambda-url.${AWS::Region}.on.aws"},
    ]
}
STAGE = "AWS::ApiGatewayV2::Stage"
NEW_ACCOUNT = 10
# Ids, numbers, names of AWS's or of ours: nothing that a caller chooses freely, and no sentence.
LOGGED = {
    f"$context.{name}"
    for name in (
        "requestId",
        "requestTime",
        "identity.sourceIp",
        "httpMethod",
        "routeKey",
        "status",
        "responseLength",
        "responseLatency",
        "integrationLatency",
        "integrationStatus",
        "error.responseType",
    )
}
LIMITS = ("ThrottlingRateLimit", "ThrottlingBurstLimit")
GATEWAY_SECONDS = 30  # an HTTP API gives up on an integration after that, whatever is configured


# ---- functions -------------------------------------------------------------------------------------------------------


@check
def logs_end_some_day(template: Template) -> Problems:
    groups = of_type(template, "AWS::Logs::LogGroup")
    for name, function in functions(template).items():
        group = name_of(function.get("LoggingConfig", {}).get("LogGroup", ""))
        if group not in groups:
            yield f"{name} logs to a group that isn't in the template"
        elif ("logs:PutLogEvents", f"{group}.Arn") not in grants(template, name):
            yield f"{name} may not write to its log group"
    for name, properties in groups.items():
        if properties.get("RetentionInDays") != {"Ref": "LogRetentionDays"}:
            yield f"{name} keeps its logs for ever"


@check
def logs_hold_what_somebody_reads(template: Template) -> Problems:
    """Lambda's own lines of calls that went well are left out. Lines without a level, which count as INFO, are kept, as
    each metric is one."""
    if template["Conditions"]["LogsDebug"] != {"Fn::Equals": [{"Ref": "LogLevel"}, "DEBUG"]}:
        yield "a deployment that logs DEBUG has these lines left out"
    level = {"Fn::If": ["LogsDebug", "DEBUG", "INFO"]}
    wanted = {"LogFormat": "JSON", "SystemLogLevel": "WARN", "ApplicationLogLevel": level}
    for name, resource in translated(template)["Resources"].items():
        if resource["Type"] == "AWS::Lambda::Function":
            config = resource["Properties"]["LoggingConfig"]
            if {key: config.get(key) for key in wanted} != wanted:
                yield f"{name} logs {config}"


@check
def layers_are_attached(template: Template) -> Problems:
    for name, function in functions(template).items():
        if {name_of(layer) for layer in function.get("Layers", [])} != {"BatonLayer", "DependenciesLayer"}:
            yield f"{name} lacks a layer"


@check
def the_runtime_is_one_setting(template: Template) -> Problems:
    if template["Parameters"]["Runtime"]["Default"] != "python3.13":
        yield "the cloud's default isn't python3.13"
    if template["Parameters"]["Architecture"]["Default"] != "arm64":
        yield "a processor by default that costs a quarter more"
    for name, function in functions(template).items():
        if function.get("Runtime") != {"Ref": "Runtime"} or function.get("Architectures") != [{"Ref": "Architecture"}]:
            yield f"{name} has a runtime of its own"
    for name, layer in of_type(template, "AWS::Serverless::LayerVersion").items():
        if layer.get("CompatibleRuntimes") != [{"Ref": "Runtime"}]:
            yield f"{name} has a runtime of its own"


@check
def handlers_are_built(template: Template) -> Problems:
    makefile = (ROOT / "functions" / "Makefile").read_text()
    for name, function in functions(template).items():
        package = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        if function["Handler"] != f"{package}.handler.lambda_handler":
            yield f"{name}'s handler is {function['Handler']}"
        parts = " ".join([package, *PACKAGED_WITH.get(name, ())])
        if f"build-{name}: ; $(call package,{parts})\n" not in makefile:
            yield f"functions/Makefile doesn't build {name}"


@check
def functions_know_their_table_and_name(template: Template) -> Problems:
    for name, function in functions(template).items():
        variables = environment(template, name)
        if variables.get("BATON_TABLE") != {"Ref": "Table"}:
            yield f"{name} doesn't know the table"
        if variables.get("POWERTOOLS_SERVICE_NAME") != function["Handler"].partition(".")[0]:
            yield f"{name} logs and counts under another name"
        if (variables.get("BATON_QUEUE_URL") == {"Ref": "DispatchQueue"}) is (name in GIVING_OUT_NO_WORK):
            yield f"{name} must know the queue, unless it never gives out work"
        if (variables.get("BATON_TRACKER_QUEUE_URL") == {"Ref": "TrackerQueue"}) is not (name in RINGING_THE_TRACKER):
            yield f"{name} must know the tracker's queue exactly if it notifies there"
        if (variables.get("BATON_BUS") == {"Ref": "Bus"}) is not (name == "PublishEvents"):
            yield f"{name} must know the bus exactly if it tells the outside"


@check
def those_who_ask_the_tracker_know_where(template: Template) -> Problems:
    wanted = {"BATON_SECRETS_PREFIX": {"Ref": "AWS::StackName"}, "BATON_NOTION_URL": {"Ref": "NotionUrl"}}
    for name in functions(template):
        found = {key: value for key, value in environment(template, name).items() if key in wanted}
        if found != (wanted if name in ASKING_THE_TRACKER else {}):
            yield f"{name} must know the tracker's address and its token's name exactly if it asks the tracker"
        if (environment(template, name).get("BATON_SECRETS_KMS") == {"Ref": "KmsKey"}) is not (name in KEEPING_TOKENS):
            yield f"{name} must know the key of secrets exactly if it makes any"
    if template["Parameters"]["NotionUrl"]["Default"] != "https://api.notion.com":
        yield "tasks go to another Notion by default"


@check
def chains_of_notices_are_bounded_by_baton_alone(template: Template) -> Problems:
    """Lambda stops a chain of about 16 messages, and a backlog that drains is a longer one."""
    called = {(name, name_of(event["Queue"])) for name, event in events(template, "SQS")}
    for name, function in functions(template).items():
        is_own_caller = any(
            who == name and ("sqs:SendMessage", queue) in grants(template, name) for who, queue in called
        )
        if is_own_caller is not (function.get("RecursiveLoop") == "Allow"):
            yield f"{name} must be allowed long chains exactly if it sends to the queue that calls it"


@check
def who_asks_models_knows_which(template: Template) -> Problems:
    wanted = {
        "BATON_MODEL": "Model",
        "BATON_MODEL_URL": "ModelUrl",
        "BATON_MODEL_KEY_SECRET": "ModelKeySecret",
        "BATON_SCRIPT": "Script",
    }
    for name in functions(template):
        found = {
            key: value
            for key, value in environment(template, name).items()
            if key.startswith(("BATON_MODEL", "BATON_SCRIPT"))
        }
        expected = {key: {"Ref": parameter} for key, parameter in wanted.items()} if name == "ProcessTask" else {}
        if found != expected:
            yield f"{name} must know the models exactly if it asks them"
    for parameter in wanted.values():
        if template["Parameters"][parameter]["Default"] != "":
            yield f"{parameter} has a default: what agents are told would go somewhere unasked"


@check
def dead_letters_have_their_place(template: Template) -> Problems:
    wanted = {("ProcessTask", "BATON_DLQ_URL", "DispatchDeadLetters")}
    wanted |= {("SyncTracker", "BATON_TRACKER_DLQ_URL", "TrackerDeadLetters")}
    found = {
        (name, variable, name_of(value))
        for name in functions(template)
        for variable, value in environment(template, name).items()
        if variable.endswith("DLQ_URL")
    }
    if found != wanted:
        yield f"dead letters go to {sorted(found)}"


@check
def no_secret_is_in_the_environment(template: Template) -> Problems:
    names_of_secrets = {"BATON_SECRETS_PREFIX", "BATON_SECRETS_KMS", "BATON_MODEL_KEY_SECRET"}
    for name in functions(template):
        for variable in environment(template, name):
            if re.search("SECRET|TOKEN|PASSWORD|KEY", variable) and variable not in names_of_secrets:
                yield f"{name} gets {variable} in its environment, where anybody who may list functions reads it"


@check_of(GATEWAY)
def waiting_never_starves_work(template: Template) -> Problems:
    """A reserve bounds it, too, where the account has room for one (tools/admin/deploy_answers.py)."""
    for name, whose in (("Wait", "Wait"), ("McpDoor", "Mcp"), ("Console", "Console")):
        reserved = template["Resources"][name]["Properties"].get("ReservedConcurrentExecutions")
        if reserved != {"Fn::If": [f"Reserves{whose}", {"Ref": f"{whose}Concurrency"}, {"Ref": "AWS::NoValue"}]}:
            yield f"{name} reserves {reserved}"


@check
def the_defaults_deploy_into_a_new_account(template: Template) -> Problems:
    """It may have ten concurrent executions. AWS refuses any reserve then, and what the queues may take at most has to
    leave some to the API and to what runs every minute."""
    parameters = template["Parameters"]
    for name in ("WaitConcurrency", "McpConcurrency", "ConsoleConcurrency", "UrlConcurrency"):
        if (parameters[name]["Default"], parameters[name].get("MinValue")) != (0, 0):
            yield f"{name} reserves what a new account doesn't have"
    answering = sum(parameters[name]["Default"] for name in ("MaximumConcurrency", "TrackerConcurrency"))
    if answering > NEW_ACCOUNT - LEAST_LEFT:
        yield f"{answering} of {NEW_ACCOUNT} concurrent executions may all answer notices"


@check_of(GATEWAY)
def waiting_is_not_paid_for_memory_that_nobody_uses(template: Template) -> Problems:
    for name, most in (("Wait", 256), ("McpDoor", 512)):
        if functions(template)[name].get("MemorySize", 1_024) > most:
            yield f"{name}: a worker that waits costs more than a small server"


@check
def timeouts_fit_what_calls_them(template: Template) -> Problems:
    every = functions(template)
    for name in _integrated(template):
        if every[name]["Timeout"] >= GATEWAY_SECONDS:
            yield f"the gateway gives up before {name} does"
    if int(environment(template, "ProcessTask")["BATON_LEASE_SECONDS"]) < every["ProcessTask"]["Timeout"] + 30:
        yield "a claim of ProcessTask may be over before its worker is"
    if LATE_SECONDS < GATEWAY_SECONDS + 30:
        yield "an entry may come later than a process reads again"
    for name in EVERY_MINUTE:
        if every[name]["Timeout"] >= 60:
            yield f"a round of {name} may last until the next"


# ---- HTTP ------------------------------------------------------------------------------------------------------------


def _integrated(template: Template) -> set[str]:
    """The functions that callers reach: by the gateway, or by a URL."""
    integrations = of_type(template, "AWS::ApiGatewayV2::Integration").values()
    targets = [integration["IntegrationUri"] for integration in integrations]
    targets += [url["TargetFunctionArn"] for url in of_type(template, FUNCTION_URL).values()]
    return {called(target) for target in targets}


@check
def every_function_that_callers_reach_checks_the_token(template: Template) -> Problems:
    """Nobody does it for them. Without a token are those of their routes that say so, and no others."""
    reached = sorted(_integrated(template) - {"Console"})
    handlers = [str(functions(template)[name]["Handler"]).rpartition(".")[0] for name in reached]
    apps: list[App] = []
    for handler in handlers:
        found = [value for value in vars(import_module(handler)).values() if isinstance(value, App)]
        if not found:
            yield f"{handler} asks nobody for a token"
        apps += found
    open_to_all = {f"{route.method} {route.path}" for app in apps for route in app.routes if not route.needs_token}
    if open_to_all != OPEN_ROUTES:
        yield f"open to all are {sorted(open_to_all)}"


@check_of(GATEWAY)
def who_checks_no_token_reaches_nothing(template: Template) -> Problems:
    """The console's pages are files: a right that it doesn't have can't be used by a stranger."""
    if granted := grants(template, "Console") - {
        (action, "ConsoleLogs.Arn") for action in ("logs:CreateLogStream", "logs:PutLogEvents")
    }:
        yield f"the console's function may {sorted(granted)}"


@check
def there_is_one_front_door(template: Template) -> Problems:
    """What isn't asked for isn't there: neither its functions nor their rights."""
    through_gateway = any(each["Type"].startswith("AWS::ApiGatewayV2::") for each in template["Resources"].values())
    urls = of_type(template, FUNCTION_URL)
    if through_gateway is bool(urls):
        yield "callers come by two doors, or by none"
    if _integrated(template) != ({"AllRoutes"} if urls else set(ROUTED.values())):
        yield f"callers reach {sorted(_integrated(template))}"
    if unreached := functions(template).keys() & {"AllRoutes", *ROUTED.values()} - _integrated(template):
        yield f"{sorted(unreached)} have rights and no callers"


@check
def callers_are_told_where_baton_answers(template: Template) -> Problems:
    """By every function the same address: that of a domain of theirs, else that of the outputs. The function with the
    URL learns the URL's id from each request: neither of the two can be made after the other."""
    address = template["Outputs"]["ApiUrl"]["Value"]
    for name in functions(template):
        found = environment(template, name).get("BATON_PUBLIC_URL")
        own = OWN_URL if name == "AllRoutes" else address
        if found != {"Fn::If": ["HasPublicUrl", {"Ref": "PublicUrl"}, own]}:
            yield f"{name} tells its callers {found}"
    if ("HttpApi" in str(address)) is bool(of_type(template, FUNCTION_URL)):
        yield f"the outputs name {address}"


@check_of(URL)
def the_url_has_a_bound(template: Template) -> Problems:
    """A reserve is the only one that AWS has: without it a flood takes the account's whole concurrency."""
    reserved = template["Resources"]["AllRoutes"]["Properties"].get("ReservedConcurrentExecutions")
    if reserved != {"Fn::If": ["ReservesUrl", {"Ref": "UrlConcurrency"}, {"Ref": "AWS::NoValue"}]}:
        yield f"AllRoutes reserves {reserved}"


@check_of(URL)
def anybody_may_ask_the_url_and_nothing_else(template: Template) -> Problems:
    """AWS wants a permission for the URL and one for the function. The second must hold for calls by the URL only."""
    for url in of_type(template, FUNCTION_URL).values():
        if url.get("AuthType") != "NONE" or "Cors" in url:
            yield "the URL lets in others than the gateway does"
    granted = [
        {key: value for key, value in permission.items() if key != "FunctionName"}
        for permission in of_type(template, "AWS::Lambda::Permission").values()
        if called(permission["FunctionName"]) == "AllRoutes"
    ]
    wanted = [
        {"Action": "lambda:InvokeFunctionUrl", "Principal": "*", "FunctionUrlAuthType": "NONE"},
        {"Action": "lambda:InvokeFunction", "Principal": "*", "InvokedViaFunctionUrl": True},
    ]
    if sorted(granted, key=str) != sorted(wanted, key=str):
        yield f"AllRoutes may be called by {granted}"


@check_of(GATEWAY)
def the_gateway_lets_everybody_through(template: Template) -> Problems:
    """To the functions, which decide: a second gate would be a second truth about who may come in."""
    if of_type(template, "AWS::ApiGatewayV2::Authorizer"):
        yield "the gateway asks another function"
    for name, route in of_type(template, "AWS::ApiGatewayV2::Route").items():
        if route.get("AuthorizationType") != "NONE":
            yield f"{name} ({route['RouteKey']}) is kept from the function"
    routes = {route["RouteKey"] for route in of_type(template, "AWS::ApiGatewayV2::Route").values()}
    if not routes >= OPEN_ROUTES | PAGES:
        yield f"without a limit of their own are {sorted((OPEN_ROUTES | PAGES) - routes)}"


@check_of(GATEWAY)
def routes_reach_their_functions(template: Template) -> Problems:
    found = {
        route["RouteKey"]: name_of(route["Target"]) for route in of_type(template, "AWS::ApiGatewayV2::Route").values()
    }
    if found != {key: f"integrations/${{{function}Integration}}" for key, function in ROUTED.items()}:
        yield f"the routes are {found}"


@check_of(GATEWAY)
def the_gateway_may_call_what_it_calls(template: Template) -> Problems:
    allowed = {
        called(permission["FunctionName"]): name_of(permission.get("SourceArn", ""))
        for permission in of_type(template, "AWS::Lambda::Permission").values()
        if permission["Principal"] == "apigateway.amazonaws.com"
    }
    if set(allowed) != _integrated(template):
        yield f"the gateway may call {sorted(allowed)}"
    for name, source in allowed.items():
        if ":${HttpApi}/" not in source:
            yield f"anybody's gateway may call {name}"


@check_of(GATEWAY)
def accesses_are_logged_without_tokens(template: Template) -> Problems:
    (stage,) = of_type(template, "AWS::ApiGatewayV2::Stage").values()
    settings = stage.get("AccessLogSettings", {})
    if name_of(settings.get("DestinationArn", "")) != "AccessLogs.Arn":
        yield "no access log"
    if "$context.requestId" not in settings.get("Format", "") or re.search("(?i)header|body|path", str(settings)):
        yield "the access log names no request, or tells too much of it (the webhook's path is a secret)"


@check_of(GATEWAY)
def every_line_of_the_access_log_is_json(template: Template) -> Problems:
    """Whatever the values are: none may have a quotation mark in it, as an HTTP API escapes nothing, and each stands
    between two of them, as one that is missing is a dash."""
    (stage,) = of_type(template, "AWS::ApiGatewayV2::Stage").values()
    logged = str(stage.get("AccessLogSettings", {}).get("Format", ""))
    if unknown := set(re.findall(r"\$context\.[\w.]*\w", logged)) - LOGGED:
        yield f"{sorted(unknown)} may be any text"
    try:
        line = json.loads(re.sub(r"\$context\.[\w.]*\w", "-", logged))
    except ValueError:
        yield "a line of the access log isn't JSON"
    else:
        if any(value != "-" for value in line.values()):
            yield "a line of the access log says what is no value"


@check_of(GATEWAY)
def requests_are_limited(template: Template) -> Problems:
    (stage,) = of_type(template, "AWS::ApiGatewayV2::Stage").values()
    limits = stage.get("DefaultRouteSettings", {})
    if limits.get("ThrottlingRateLimit") != {"Ref": "RequestsPerSecond"} or "ThrottlingBurstLimit" not in limits:
        yield "anybody may run up the bill"


@check_of(GATEWAY)
def routes_without_a_token_have_limits_of_their_own(template: Template) -> Problems:
    (stage,) = of_type(template, STAGE).values()
    settings = stage.get("RouteSettings", {})
    open_routes = {
        name: route["RouteKey"]
        for name, route in of_type(template, "AWS::ApiGatewayV2::Route").items()
        if route["RouteKey"] in OPEN_ROUTES | PAGES
    }
    for key in open_routes.values():
        limits = settings.get(key, {})
        # A browser asks for dozens of files at once.
        wanted = "RequestsPerSecond" if key == FILES else "StrangersPerSecond"
        if any(limits.get(name) != {"Ref": wanted} for name in LIMITS):
            yield f"{key} has no limit of its own: a flood there takes what those with a token need"
    for key in settings.keys() - set(open_routes.values()):
        yield f"{key} has a limit of its own, and needs a token or isn't there"
    (needed,) = [each.get("DependsOn", []) for each in template["Resources"].values() if each["Type"] == STAGE]
    for name in open_routes.keys() - set(needed):
        yield f"the stage may be made before {name}, and refuses settings for it"


# ---- time ------------------------------------------------------------------------------------------------------------


@check
def what_looks_every_minute_does(template: Template) -> Problems:
    schedules = list(events(template, "ScheduleV2"))
    if sorted(function for function, _ in schedules) != EVERY_MINUTE:
        yield "the sweeper and the publisher, and nothing else, must be on a schedule"
    for function, schedule in schedules:
        if schedule.get("ScheduleExpression") != "rate(1 minute)" or schedule.get("State") != "ENABLED":
            yield f"{function} doesn't run every minute"


@check
def missed_rounds_do_not_pile_up(template: Template) -> Problems:
    for name in EVERY_MINUTE:
        found = functions(template)[name].get("EventInvokeConfig", {})
        if found.get("MaximumRetryAttempts") != 0 or found.get("MaximumEventAgeInSeconds", 21600) > 60:
            yield f"failed rounds of {name} are repeated beside the next ones"


# ---- what others rely on ---------------------------------------------------------------------------------------------


@check
def outputs_name_everything(template: Template) -> Problems:
    wanted = {"ApiUrl", "TableName", "QueueUrl", "DlqUrl", "TrackerQueueUrl", "TrackerDlqUrl", "EventBusName"}
    wanted |= {f"{name}Function" for name in functions(template)}
    if missing := wanted - set(template["Outputs"]):
        yield f"no output {sorted(missing)}"
