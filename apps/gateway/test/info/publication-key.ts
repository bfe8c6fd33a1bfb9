// For tests: gateways that publish with their own new key.

import { randomBytes } from 'node:crypto'
import { address } from '@solana/kit'
import type { Health } from '@svc/api/info'
import { giveSol } from '@svc/devnet/primary-chain/faucet'
import type { Variables } from '@svc/http-service/config'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { expect } from 'vitest'
import type { AnchorTestbed } from '../anchors/anchor-testbed.ts'
import type { LockerHouse } from '../auth/lockers.ts'

/** The low-balance threshold of these gateways. */
export const LOW = 2_000_000

/** Opens a gateway with a new publication key that holds this many lamports. */
export async function openWith(harbour: AnchorTestbed, lamports: number, variables: Variables = {}) {
  const seed = randomBytes(32)
  const key = toBase58(ed25519Signer(seed).publicKey)
  const give = (amount: number) => giveSol(harbour.chain, address(key), BigInt(amount))
  if (lamports > 0) give(lamports)
  const own = { PUBLICATION_KEY: seed.toString('hex'), PUBLICATION_LOW_BALANCE_LAMPORTS: String(LOW) }
  const house = await harbour.open({ ...own, ...variables })
  return { house, key, give }
}

export const health = (house: LockerHouse) => house.send<Health>('GET', '/health')

/** Waits until a node has answered, because the health endpoint does not wait for a slow one. */
export async function healthWithBalance(house: LockerHouse) {
  const state = async () => (await health(house)).body.checks.publication_key
  await expect.poll(state).not.toBe('failing')
  return health(house)
}
