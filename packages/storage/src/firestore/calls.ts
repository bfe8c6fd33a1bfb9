// The calls of Firestore that the driver uses, each made once and ended by its deadline.
//
// They use the gRPC stub of Google's library, which has the formats and the credentials. The layers above it retry by
// themselves, some for minutes, and not all of that can be switched off.

import firestore from '@google-cloud/firestore'
import {
  type CallOptions,
  type ClientReadableStream,
  type ClientUnaryCall,
  credentials as channelCredentials,
  Metadata,
  type requestCallback,
} from '@grpc/grpc-js'
import type { FirestoreSettings } from './settings.ts'

interface Value {
  stringValue?: string
  /** Answers contain a string. */
  integerValue?: string | number
  bytesValue?: Buffer
}

export interface StoredDocument {
  name: string
  fields: Record<string, Value>
}

export type DocumentWrite =
  | { update: StoredDocument; updateMask?: { fieldPaths: string[] }; currentDocument?: { exists: boolean } }
  | { delete: string }

interface Stub {
  commit(request: object, metadata: Metadata, options: CallOptions, done: requestCallback<unknown>): ClientUnaryCall
  batchGetDocuments(
    request: object,
    metadata: Metadata,
    options: CallOptions,
  ): ClientReadableStream<{ found?: StoredDocument | null }>
  runQuery(
    request: object,
    metadata: Metadata,
    options: CallOptions,
  ): ClientReadableStream<{ document?: StoredDocument | null }>
}

export interface CallLimits {
  deadline: Date
  signal?: AbortSignal | undefined
}

export interface Calls {
  /** The full name of the collection of objects. */
  root: string
  /** All or nothing. */
  commit(writes: readonly DocumentWrite[], limits: CallLimits): Promise<void>
  /** The existing ones, in any order; only these fields when some are named. */
  fetch(names: readonly string[], mask: readonly string[] | null, limits: CallLimits): Promise<StoredDocument[]>
  /** The names of the first documents of a collection within a document, in order. */
  list(parent: string, collectionId: string, limit: number, limits: CallLimits): Promise<string[]>
  close(): Promise<void>
}

const CHANNEL = {
  'grpc.use_local_subchannel_pool': 1,
  // Less than the pauses between attempts: each attempt must use a new connection.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 5000,
  // Detects a connection whose other end is gone.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc-node.flow_control_window': 1024 * 1024,
}

/** Connects with the first call. */
export function openCalls(settings: FirestoreSettings): Calls {
  const database = `projects/${settings.project}/databases/${settings.database}`
  const metadataFor = createMetadata(database, settings.emulator)
  let client = createClient(settings)

  async function stub(): Promise<Stub> {
    try {
      return (await client.initialize()) as unknown as Stub // its methods are made at run time
    } catch (error) {
      // A client that found no credentials does not search for them again.
      client = createClient(settings)
      throw error
    }
  }

  return {
    root: `${database}/documents/${settings.collection}`,
    async commit(writes, { deadline }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const service = await stub()
      service.commit({ database, writes }, metadataFor({ database }), { deadline }, (error) =>
        error ? reject(error) : resolve(),
      )
      await promise
    },
    async fetch(names, mask, limits) {
      const request = { database, documents: names, ...(mask && { mask: { fieldPaths: mask } }) }
      const call = (await stub()).batchGetDocuments(request, metadataFor({ database }), { deadline: limits.deadline })
      return collect(call, ({ found }) => found, limits.signal)
    },
    async list(parent, collectionId, limit, { deadline }) {
      const structuredQuery = {
        from: [{ collectionId }],
        select: { fields: [{ fieldPath: '__name__' }] },
        limit: { value: limit },
      }
      const call = (await stub()).runQuery({ parent, structuredQuery }, metadataFor({ parent }), { deadline })
      return collect(call, ({ document }) => document?.name)
    },
    close: () => client.close(),
  }
}

function createClient({ project, credentials, emulator }: FirestoreSettings) {
  const options = { ...CHANNEL, projectId: project, ...(credentials && { credentials }) }
  if (emulator === null) return new firestore.v1.FirestoreClient(options)
  const { hostname, port } = new URL(`http://${emulator}`)
  return new firestore.v1.FirestoreClient({
    ...options,
    servicePath: hostname,
    port: Number(port),
    sslCreds: channelCredentials.createInsecure(),
    // Otherwise it asks the credentials of this machine for the project.
    clientOptions: { universeDomain: 'googleapis.com' },
  })
}

/** They route a call to the database; an emulator gives full access to this token. */
function createMetadata(database: string, emulator: string | null) {
  return (parameters: Record<string, string>): Metadata => {
    const metadata = new Metadata()
    metadata.set('google-cloud-resource-prefix', database)
    metadata.set('x-goog-request-params', `${new URLSearchParams(parameters)}`)
    if (emulator !== null) metadata.set('authorization', 'Bearer owner')
    return metadata
  }
}

/** Reads to the end, where the status is. */
async function collect<Answer, T>(
  call: ClientReadableStream<Answer>,
  pick: (answer: Answer) => T | null | undefined,
  signal?: AbortSignal,
): Promise<T[]> {
  const picked: T[] = []
  const cancel = () => call.cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  if (signal?.aborted) cancel()
  try {
    for await (const answer of call) picked.push(...[pick(answer)].filter((part) => part != null))
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
  return picked
}
