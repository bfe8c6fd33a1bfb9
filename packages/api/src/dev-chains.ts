// The local chains of a gateway in development mode. No part of the interface: other gateways answer 404.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { NO_STORE, Words } from './wire.ts'

export const GivenCoins = Type.Object(
  { given: Type.Record(Type.String(), Type.String({ description: 'In display units, by ticker.' })) },
  { title: 'GivenCoins' },
)
export type GivenCoins = Static<typeof GivenCoins>

export const giveCoins = endpoint({
  name: 'giveCoins',
  method: 'POST',
  // Each gives again.
  repeatable: false,
  path: '/dev/chains/faucet',
  auth: 'public',
  summary: 'Coins and tokens without value, on the local chains',
  body: Type.Object({
    namespace: Words(['solana', 'eip155']),
    address: Type.String({ maxLength: 100 }),
  }),
  responses: { 200: GivenCoins },
  headers: NO_STORE,
  errors: ['chain_unavailable', 'RATE_LIMITED', 'validation_error'],
})
