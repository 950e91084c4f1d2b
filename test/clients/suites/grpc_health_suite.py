"""gRPC's own client of its health protocol."""

import os

import grpc
from checks import run_all
from grpc_health.v1 import health_pb2, health_pb2_grpc

SERVING = health_pb2.HealthCheckResponse.SERVING
stub = health_pb2_grpc.HealthStub(grpc.insecure_channel(os.environ["CLIENTS_GRPC"]))


def request(service=""):
    return health_pb2.HealthCheckRequest(service=service)


def server_is_serving():
    assert stub.Check(request()).status == SERVING


def readiness_and_liveness():
    for service in ["readiness", "liveness"]:
        assert stub.Check(request(service)).status == SERVING


def other_service_is_not_found():
    try:
        stub.Check(request("other"))
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.NOT_FOUND
    else:
        raise AssertionError("an unknown service was answered")


def watch():
    call = stub.Watch(request())
    assert next(call).status == SERVING
    call.cancel()


run_all([server_is_serving, readiness_and_liveness, other_service_is_not_found, watch])
