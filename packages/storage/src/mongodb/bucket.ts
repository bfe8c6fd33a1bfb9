// GridFS: a document for each object in `<bucket>.files`, its bytes in chunks in `<bucket>.chunks`. Other tools can read
// it. What they do not know is `metadata`: the document is there before the bytes, to claim the id, and the object is
// there from when `isWhole` is set. One write is one random `write`, on the document and on each of its chunks, and
// touches nothing that bears another.

import { ConfigError } from '@svc/http-service/config'
import { type Collection, type Long, MongoClient, type ObjectId } from 'mongodb'
import { type Ask, createAsk } from './ask.ts'
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
}

export interface Bucket {
  files: Collection<FileDocument>
  chunks: Collection<ChunkDocument>
  ask: Ask
  /** For an answer that is of use only soon. */
  askBriefly: Ask
  close(): Promise<void>
}

export interface Timeouts {
  /** To reach a server, and to find one that takes writes. */
  connectMs: number
  /** For one step: a chunk in or out, or less. */
  answerMs: number
}

const MAX_CONNECTIONS = 32

/** Connects when it is first asked for something. */
export function openBucket({ url, database, bucket }: MongodbSettings, { connectMs, answerMs }: Timeouts): Bucket {
  const client = createClient(url, { connectMs, answerMs })
  const db = client.db(database)
  return {
    files: db.collection(`${bucket}.files`),
    chunks: db.collection(`${bucket}.chunks`),
    ask: createAsk(client, answerMs),
    askBriefly: createAsk(client, connectMs),
    close: () => client.close(),
  }
}

function createClient(url: string, { connectMs, answerMs }: Timeouts): MongoClient {
  try {
    return new MongoClient(url, {
      appName: 'svc-gateway',
      connectTimeoutMS: connectMs,
      serverSelectionTimeoutMS: connectMs,
      // For what no signal ends: logging in, and the further questions of a cursor.
      socketTimeoutMS: answerMs,
      waitQueueTimeoutMS: answerMs,
      // After a cut connection the driver looks at the server anew: soon, as a retry waits for it.
      minHeartbeatFrequencyMS: 100,
      maxPoolSize: MAX_CONNECTIONS,
      readPreference: 'primary',
      readConcernLevel: 'majority',
      writeConcern: { w: 'majority', journal: true },
      promoteBuffers: true,
    })
  } catch (error) {
    throw new ConfigError([`MONGODB_URL is not usable: ${(error as Error).message}`])
  }
}
