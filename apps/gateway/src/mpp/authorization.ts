// A transfer of USDC on the EVM chain that its payer has signed for a challenge (EIP-3009).

import type { AuthorizationPayload } from '@svc/api/mpp'
import { EVM } from '@svc/api/networks'
import { addressKey } from '@svc/guard/address-key'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { Challenge, Charge } from '@svc/payments/selling/mpp/challenge'
import { unknownChallenge } from '@svc/payments/selling/mpp/credential'
import { keccak256, toBytes } from 'viem'
import type { PayRequest } from '../purchases/store.ts'
import { cannotSettle } from '../x402/errors.ts'
import type { Settler, SignedPayment } from '../x402/settler.ts'
import type { MppContext } from './room.ts'

interface Signed {
  request: PayRequest
  charge: Charge
  challenge: Challenge
  payload: AuthorizationPayload
  wire: WireRequest
}

/** The payment as the x402 endpoint settles it: the same checks, limits and receipts. */
export function signedTransfer(
  { settlers }: MppContext,
  { request, charge: { leg }, challenge, payload, wire }: Signed,
): { payment: SignedPayment; settler: Settler } {
  const { type: _, signature, ...authorization } = payload
  // What was signed for another challenge is no payment of this one.
  if (authorization.nonce.toLowerCase() !== challengeHash(challenge)) throw unknownChallenge()
  const settler = settlers.get(EVM)
  const id = settler?.paymentId({ signature, authorization }) ?? null
  if (!settler || id === null) throw cannotSettle()
  // The version of the token's EIP-712 domain, which a leg that is paid with a transaction does not have.
  const signable = { ...leg, extra: { ...leg.extra, version: '2' } }
  const address = addressKey(wire.clientAddress)
  // Whoever signs a challenge once more signs the same authorization.
  const payment = { request, leg: signable, payload: { signature, authorization }, id, address, isKeyed: false }
  return { payment, settler }
}

/** The nonce of an authorization for a challenge. */
function challengeHash({ id, realm }: Challenge): string {
  return keccak256(toBytes(id + realm))
}
