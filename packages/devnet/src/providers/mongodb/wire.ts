// The wire protocol that current drivers use: OP_MSG, and OP_QUERY for the first hello of a connection.

import { type Document, deserialize, serialize } from 'bson'

export interface Request {
  id: number
  isQuery: boolean
  /** The client does not wait for an answer. */
  isOneWay: boolean
  /** Documents to insert stay as their bytes. */
  command: Document
}

const OP_REPLY = 1
const OP_QUERY = 2004
const OP_MSG = 2013
const HEADER_BYTES = 16
const MORE_TO_COME = 2
const KEPT_RAW = { fieldsAsRaw: { documents: true } }

/** Ends with the client's stream; fails on a message longer than `maxBytes()`. */
export async function* requestsOf(bytes: AsyncIterable<Buffer>, maxBytes: () => number): AsyncGenerator<Request> {
  let held: Buffer[] = []
  let size = 0
  for await (const piece of bytes) {
    held.push(piece)
    size += piece.length
    while (size >= 4) {
      if (held[0]!.length < 4) held = [Buffer.concat(held)]
      const length = held[0]!.readInt32LE()
      if (length < HEADER_BYTES || length > maxBytes()) throw new RangeError('a message of this length is not accepted')
      if (size < length) break
      const all = Buffer.concat(held)
      yield decode(all.subarray(0, length))
      held = [all.subarray(length)]
      size -= length
    }
  }
}

function decode(message: Buffer): Request {
  const id = message.readInt32LE(4)
  const opCode = message.readInt32LE(12)
  if (opCode === OP_MSG) {
    const isOneWay = (message.readInt32LE(HEADER_BYTES) & MORE_TO_COME) !== 0
    return { id, isQuery: false, isOneWay, command: decodeSections(message.subarray(HEADER_BYTES + 4)) }
  }
  if (opCode !== OP_QUERY) throw new RangeError(`unknown operation ${opCode}`)
  const namespaceEnd = message.indexOf(0, HEADER_BYTES + 4)
  return { id, isQuery: true, isOneWay: false, command: deserialize(documentAt(message, namespaceEnd + 9)) }
}

function decodeSections(sections: Buffer): Document {
  const command: Document = {}
  for (let at = 0; at < sections.length; ) {
    const kind = sections[at]
    const section = documentAt(sections, at + 1)
    if (kind === 0) Object.assign(command, deserialize(section, KEPT_RAW))
    else Object.assign(command, decodeSequence(section))
    at += 1 + section.length
  }
  return command
}

/** A field whose documents follow each other without an array. */
function decodeSequence(section: Buffer): Document {
  const nameEnd = section.indexOf(0, 4)
  const name = section.toString('utf8', 4, nameEnd)
  const documents: (Buffer | Document)[] = []
  for (let at = nameEnd + 1; at < section.length; ) {
    const document = documentAt(section, at)
    documents.push(name === 'documents' ? document : deserialize(document))
    at += document.length
  }
  return { [name]: documents }
}

function documentAt(bytes: Buffer, at: number): Buffer {
  return bytes.subarray(at, at + bytes.readInt32LE(at))
}

let lastReplyId = 0

/** The header and the document. */
export function encodeReply({ id, isQuery }: Request, reply: Document): [Buffer, Uint8Array] {
  const document = serialize(reply, { ignoreUndefined: true })
  // OP_MSG: flags and the kind of section. OP_REPLY: flags, cursor, offset, one document.
  const preamble = isQuery ? Buffer.alloc(20) : Buffer.alloc(5)
  if (isQuery) preamble.writeInt32LE(1, 16)
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeInt32LE(HEADER_BYTES + preamble.length + document.length)
  header.writeInt32LE(++lastReplyId, 4)
  header.writeInt32LE(id, 8)
  header.writeInt32LE(isQuery ? OP_REPLY : OP_MSG, 12)
  return [Buffer.concat([header, preamble]), document]
}
