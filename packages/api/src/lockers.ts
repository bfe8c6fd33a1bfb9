// Lockers.

import Type, { type Static } from 'typebox'
import { Provider, Terms } from './purchases.ts'
import { Timestamp, Words } from './wire.ts'

export const Tags = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 32,
  description: 'Words to find the locker by; what it was created with stays.',
})

const Space = Type.Object(
  {
    locker_id: Type.String(),
    file_api: Type.Object({
      create: Type.String(),
      list: Type.String(),
      get: Type.String(),
      delete: Type.String(),
    }),
  },
  { title: 'Space' },
)

export const LockerRecord = Type.Object(
  {
    locker_id: Type.String({ pattern: '^locker_[0-9a-f]{12}$' }),
    receipt_id: Type.String(),
    owner: Type.String({ description: 'Who paid.' }),
    operators: Type.Array(Type.String()),
    tags: Type.Array(Type.String()),
    provider: Provider,
    network: Type.String(),
    sig_alg: Words(['ed25519', 'secp256k1']),
    terms: Terms,
    created_at: Timestamp(),
    expires_at: Timestamp('Until when the terms were paid for; nothing is deleted by itself.'),
    file_count: Type.Integer(),
    total_bytes: Type.Integer(),
    space: Space,
  },
  { title: 'LockerRecord' },
)
export type LockerRecord = Static<typeof LockerRecord>
