import { type Identity, signCall } from '@svc/devnet/services/signing'
import type { Credential } from '../draft.ts'

interface Signs {
  owner: Identity
  lockerId: string
  receiptId: string
}

/** An envelope with every op; `fields` replace its fields. */
export function envelopeOf({ owner, lockerId, receiptId }: Signs, now: () => number, fields: object = {}): Credential {
  return ({ method, target: path, body }) => {
    const call = { method, path, ops: OPS, lockerId, receiptId, envelope: fields, ...(body && { body }) }
    return signCall(owner, call, now()).headers
  }
}

const OPS = ['provision', 'refresh', 'read', 'list', 'write', 'admin', 'attest'].map((op) => `locker:${op}`)

export function bearer(token: () => string): Credential {
  return () => ({ authorization: `Bearer ${token()}` })
}

/** The token of upload sessions and of tus. */
export function uploadToken(token: string): Credential {
  return () => ({ 'x-upload-token': token })
}
