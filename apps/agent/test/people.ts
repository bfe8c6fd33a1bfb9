// For tests: people with keys, some of them with money.

import { randomBytes } from 'node:crypto'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { EVM, type Network, PRIMARY } from '@svc/payments/networks'
import { fromHex } from '@svc/protocol/bytes'
import { type Signer, signerFromEvmKey, signerFromSeed } from '@svc/sdk'
import { ed25519Identity, evmIdentity, type Identity } from '@svc/testbed/signing'

/** Somebody who speaks to the agent service and, through `signer`, to the gateway. */
export interface Person extends Identity {
  signer: Signer
}

/** One with money. */
export interface Payer extends Person {
  network: Network
  /** Among the demo payers of the network. */
  number: number
}

export function ed25519Person(seed: Uint8Array = randomBytes(32)): Person {
  return { ...ed25519Identity(seed), signer: signerFromSeed(seed) }
}

export function evmPerson(key: Uint8Array = randomBytes(32)): Person {
  return { ...evmIdentity(key), signer: signerFromEvmKey(key) }
}

export function primaryPayer(number: number): Payer {
  return { ...ed25519Person(DEMO_PAYERS[number]!.privateKeyBytes), network: PRIMARY, number }
}

export function evmPayer(number: number): Payer {
  return { ...evmPerson(fromHex(DEV_PAYERS[number]!.privateKey.slice(2), 32)!), network: EVM, number }
}
