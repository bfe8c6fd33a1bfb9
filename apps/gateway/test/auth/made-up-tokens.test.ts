// Tokens that only the gateway can read: of tus uploads, and of S3 sessions.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { latin1, must, mustEqual } from '@svc/devnet/properties/rules'
import { ed25519Signer } from '@svc/protocol/keys'
import { expect, it } from 'vitest'
import { createCredentialKeys } from '../../src/adapters/s3/credentials/credential-keys.ts'
import { isKeyId, newKeyId } from '../../src/adapters/s3/credentials/key-ids.ts'
import { openSession, sealSession } from '../../src/adapters/s3/credentials/session-token.ts'
import { bearerToken } from '../../src/auth/bearer-token.ts'
import { createTokenSealer } from '../../src/auth/sealed-tokens.ts'
import { isTokenOf, sessionIdOf, uploadToken } from '../../src/files/parts/session-token.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(6))
const scope = {
  lockerId: 'locker_0123456789ab',
  grant: { key: 'owner', epoch: 3 },
  access: 'write',
  prefix: 'photos/é/',
  expiresAt: 1_800_000_000,
} as const

const ofWallet = {
  wallet: 'owner',
  epochs: { locker_0123456789ab: 3 },
  access: 'read',
  mintedAt: 1_700_000_000,
  expiresAt: 1_800_000_000,
} as const

it('T-129 T-52 no made-up input breaks the rules of sealed tokens', async () => {
  const zeros = (length: number) => new Uint8Array(length)
  const sealer = createTokenSealer(signer, 'svc/upload-tokens/v1', zeros)
  const keys = createCredentialKeys(signer)
  const sealed = sealer.seal({ locker: 'locker_0123456789ab', prefix: 'é' })
  const session = sealSession(keys, scope, zeros(16))
  const walletSession = sealSession(keys, ofWallet, zeros(16))
  const keyId = newKeyId(keys, zeros)
  const upload = uploadToken('A'.repeat(43))
  expect(
    await problemWith({
      examples: [
        sealed,
        session.token,
        walletSession.token,
        session.accessKeyId,
        keyId,
        upload.token,
        `Bearer ${sealed}`,
      ],
      words: ['-', '_', '=', 'A', 'SVCS', 'SVCK', 'Bearer ', ' ', '+', '/'],
      maxBytes: 8192,
      rule(input) {
        const token = latin1(input)
        must((sealer.open(token) !== null) === (token === sealed), 'a token that was never sealed opens')
        must(
          (openSession(keys, session.accessKeyId, token) !== null) === (token === session.token),
          'an unknown session opens',
        )
        if (token !== session.accessKeyId) must(openSession(keys, token, session.token) === null, 'another id opens')
        must(isKeyId(keys, token) === (token === keyId), 'an id that was never issued is accepted')
        const isUpload = isTokenOf({ token_hash: upload.tokenHash }, token)
        must(isUpload === (token === upload.token), 'a token of another upload is accepted')
        must((sessionIdOf(token) === upload.sessionId) === (token === upload.token), 'two tokens have one session')
        const bearer = bearerToken(token)
        must(bearer === null || token.endsWith(bearer), 'the token differs from the one sent')
        const sessions = [
          [session, scope],
          [walletSession, ofWallet],
        ] as const
        for (const [{ accessKeyId, token }, sealedScope] of sessions) {
          const { secret: _, ...opened } = openSession(keys, accessKeyId, token)!
          mustEqual(opened, sealedScope, 'a session opens something else')
        }
      },
    }),
  ).toBeNull()
})
