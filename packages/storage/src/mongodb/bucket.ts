// GridFS: a document for each object in `<bucket>.files`, its bytes in chunks in `<bucket>.chunks`, readable by other
// tools. Our own field is `metadata`: the document exists before the bytes, to claim the id, and the object exists once
// `isWhole` is set. Each write has a random `write` in its document and chunks, and changes nothing of another write.

import { ConfigError } from '@svc/service/program/config'
import { type Collection, type CommandOperationOptions, type Long, MongoClient, type ObjectId } from 'mongodb'
import { type Timeouts, withRetries } from '../timeouts.ts'
import { isDuplicateKey, stepError } from './errors.ts'
import type { MongodbSettings } from './settings.ts'

interface FileDocument {
  _id: string
  filename: string
  length: number | Long
  chunkSize: number
  uploadDate: Date
  metadata: { write: string; isWhole: boolean }
}

export interface ChunkDocument {
  _id: ObjectId
  files_id: string
  n: number
  data: Buffer
  write: string
  /** The id of one write of a part. */
  part?: string
}

/** Writes respect the signal like reads, although only the types of reads declare it. */
export type StepOptions = CommandOperationOptions & { signal: AbortSignal }

/**
 * Runs one step, and repeats it when it fails: running it twice must have the same result. Its failure is a
 * `ProviderError`; only a duplicate key is thrown unchanged.
 */
export type Ask = <Result>(step: (options: StepOptions) => Promise<Result>) => Promise<Result>

export interface Bucket {
  files: Collection<FileDocument>
  chunks: Collection<ChunkDocument>
  ask: Ask
  /** For an answer that is useful only soon. */
  askQuickly: Ask
  close(): Promise<void>
}

const MAX_CONNECTIONS = 32

/** Connects with the first step. */
export function openBucket({ url, database, bucket }: MongodbSettings, timeouts: Timeouts): Bucket {
  const client = createClient(url, timeouts)
  const db = client.db(database)
  return {
    files: db.collection(`${bucket}.files`),
    chunks: db.collection(`${bucket}.chunks`),
    ask: createAsk(client, timeouts),
    askQuickly: createAsk(client, { ...timeouts, answerMs: timeouts.connectMs }),
    close: () => client.close(),
  }
}

/**
 * The signal ends a step that hangs: then the driver's own `timeoutMS` has no effect, and its socket timeout lets a
 * step that was still sending wait forever. It is not aborted once the step has ended: a cursor may outlive it.
 */
function createAsk(client: MongoClient, timeouts: Timeouts): Ask {
  return (step) =>
    withRetries(timeouts, async () => {
      const timeout = new AbortController()
      const timer = setTimeout(() => timeout.abort(), timeouts.answerMs)
      try {
        // A client whose first attempt to connect failed does not retry by itself.
        await client.connect()
        return await step({ signal: timeout.signal })
      } catch (error) {
        throw isDuplicateKey(error) ? error : stepError(error, timeout.signal.aborted)
      } finally {
        clearTimeout(timer)
      }
    })
}

function createClient(url: string, { connectMs, answerMs }: Timeouts): MongoClient {
  try {
    return new MongoClient(url, {
      appName: 'svc-gateway',
      connectTimeoutMS: connectMs,
      serverSelectionTimeoutMS: connectMs,
      // For steps that no signal ends: authentication, and later requests of a cursor.
      socketTimeoutMS: answerMs,
      waitQueueTimeoutMS: answerMs,
      // After a broken connection the driver checks the server again: soon, because a retry waits for it.
      minHeartbeatFrequencyMS: 100,
      maxPoolSize: MAX_CONNECTIONS,
      readPreference: 'primary',
      readConcernLevel: 'majority',
      writeConcern: { w: 'majority', journal: true },
      promoteBuffers: true,
    })
  } catch (error) {
    throw new ConfigError([`MONGODB is not usable: ${(error as Error).message}`])
  }
}
