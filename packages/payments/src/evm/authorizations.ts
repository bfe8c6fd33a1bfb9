// EIP-3009: a payer signs an authorization, and anyone may send it, alone or among others. Its payment is the transfer
// that the token makes right after it has marked the authorization as used.

/** keccak256('AuthorizationUsed(address,bytes32)') */
export const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

/** keccak256('AuthorizationCanceled(address,bytes32)') */
export const AUTHORIZATION_CANCELED = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81'

export interface Authorization {
  from: string
  nonce: string
}

/** One text for each authorization: a token accepts a nonce of a payer once. */
export function authorizationId({ from, nonce }: Authorization): string {
  return `${from}:${nonce}`.toLowerCase()
}

export function readAuthorizationId(id: string): Authorization {
  const [from = '', nonce = ''] = id.split(':')
  return { from, nonce }
}
