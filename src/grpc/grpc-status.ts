import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { ErrorCode, ServiceError } from '../errors.ts';

/** How a call ended (gRPC, "Status codes and their use in gRPC"). */
export type GrpcStatus = {
  readonly code: number;
  readonly message: string;
  /** Seconds after which the caller may try again. */
  readonly retryAfterS?: number | undefined;
};

/** The code of success. */
export const GRPC_OK = 0;

/** Codes by HTTP status (google.rpc.Code; OTLP specification, "OTLP/HTTP Response"). */
const CODES: ReadonlyMap<number, number> = new Map([
  [400, 3],
  [401, 16],
  [403, 7],
  [404, 5],
  [408, 4],
  [413, 3],
  [415, 3],
  [429, 8],
  [503, 14],
]);
const INTERNAL = 13;

/** Errors for which gRPC has UNIMPLEMENTED ("gRPC over HTTP2", "Compression"). */
const UNIMPLEMENTED_CODES: ReadonlySet<ErrorCode> = new Set([
  'unknown_route',
  'unsupported_encoding',
]);
const UNIMPLEMENTED = 12;

/** The code of `google.rpc.Status` for an error. */
export function toRpcCode({ status }: ServiceError): number {
  return CODES.get(status) ?? INTERNAL;
}

/** The status of a failed call. */
export function toGrpcStatus(error: ServiceError): GrpcStatus {
  const code = UNIMPLEMENTED_CODES.has(error.code) ? UNIMPLEMENTED : toRpcCode(error);
  return { code, message: error.message, retryAfterS: error.retryAfterS };
}

/**
 * A status as `google.rpc.Status`. A time to try again is a `google.rpc.RetryInfo` among its details: without one,
 * exporters do not repeat what was refused as RESOURCE_EXHAUSTED (OTLP specification, "Failures").
 */
export function encodeStatus({ code, message, retryAfterS }: GrpcStatus): Uint8Array {
  const writer = new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(code)
    .tag(2, WireType.LengthDelimited)
    .string(message);
  if (retryAfterS === undefined) return writer.finish();
  const duration = new BinaryWriter().tag(1, WireType.Varint).int64(retryAfterS).finish();
  const info = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(duration).finish();
  const any = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string('type.googleapis.com/google.rpc.RetryInfo')
    .tag(2, WireType.LengthDelimited)
    .bytes(info)
    .finish();
  return writer.tag(3, WireType.LengthDelimited).bytes(any).finish();
}

/** The trailers of a status ("gRPC over HTTP2", "Responses"). */
export function toTrailers(status: GrpcStatus): Record<string, string> {
  const { code, message, retryAfterS } = status;
  return {
    'grpc-status': String(code),
    'grpc-message': encodeMessage(message),
    ...(retryAfterS !== undefined && {
      'grpc-status-details-bin': Buffer.from(encodeStatus(status)).toString('base64'),
    }),
  };
}

/** Bytes of UTF-8 that are not visible ASCII or a space, and `%`, in hexadecimal after a `%`. */
function encodeMessage(message: string): string {
  return Buffer.from(message)
    .toString('latin1')
    .replace(/[^ -$&-~]/g, (byte) => {
      const hexadecimal = byte.charCodeAt(0).toString(16).toUpperCase();
      return `%${hexadecimal.padStart(2, '0')}`;
    });
}
