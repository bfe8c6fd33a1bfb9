// Signs with a key in an ssh-agent, by the agent protocol (draft-ietf-sshm-ssh-agent) over its socket. `ssh-ed25519`
// signatures are plain Ed25519 signatures of the bytes.

import { connect } from 'node:net'
import { fromHex } from '@svc/protocol/bytes'
import type { ExternalKey } from '../settings.ts'

const SIGN_REQUEST = 13
const SIGN_RESPONSE = 14
const MAX_ANSWER_BYTES = 64 * 1024

export async function signBySshAgent(key: ExternalKey, message: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  const publicKey = fromHex(key.publicKeyHex, 32) as Uint8Array // checked when the settings were read
  const blob = Buffer.concat([string('ssh-ed25519'), string(publicKey)])
  const request = Buffer.concat([Buffer.of(SIGN_REQUEST), string(blob), string(message), uint32(0)])
  const answer = await exchange(key.signer.slice('ssh-agent:'.length), string(request), signal)
  if (answer[0] !== SIGN_RESPONSE) throw new Error('the ssh-agent has no such key, is locked, or refuses to use it')
  const [signatureBlob] = readString(answer.subarray(1))
  const [algorithm, rest] = readString(signatureBlob)
  const [signature] = readString(rest)
  if (algorithm.toString() !== 'ssh-ed25519') throw new Error('the ssh-agent signed by another algorithm')
  return Uint8Array.from(signature)
}

/** Opens one connection for each request: agents serve many, and a broken connection ends with its request. */
async function exchange(path: string, request: Buffer, signal: AbortSignal): Promise<Buffer> {
  const socket = connect({ path, signal })
  try {
    socket.write(request)
    let received = Buffer.alloc(0)
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      received = Buffer.concat([received, chunk])
      if (received.length > MAX_ANSWER_BYTES) throw new Error('the answer of the ssh-agent is too large')
      if (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) return readString(received)[0]
    }
    throw new Error('the ssh-agent closed the connection')
  } finally {
    socket.destroy()
  }
}

function string(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as Uint8Array)
  return Buffer.concat([uint32(bytes.length), bytes])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Returns the string at the beginning and the bytes after it. */
function readString(bytes: Buffer): [string: Buffer, rest: Buffer] {
  const length = bytes.length >= 4 ? bytes.readUInt32BE(0) : Number.POSITIVE_INFINITY
  if (4 + length > bytes.length) throw new Error('the answer of the ssh-agent is malformed')
  return [bytes.subarray(4, 4 + length), bytes.subarray(4 + length)]
}
