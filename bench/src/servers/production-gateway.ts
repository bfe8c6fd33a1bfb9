// A gateway in production mode, as an admin runs it; its standard output is discarded.

import { startTestGateway } from '@svc/devnet/services/gateway'

const key = (byte: string) => byte.repeat(32)

export const PRODUCTION = {
  SVC_MODE: 'production',
  BASE_URL: 'http://localhost',
  STATEMENT_KEY: key('01'),
  PUBLICATION_KEY: key('02'),
  SHORT_URL_KEY: key('03'),
}

/** Settings of a gateway that sells on a chain where no node answers. */
export const SELLING = { EVM_RPC_URLS: 'http://127.0.0.1:1', EVM_TREASURY: `0x${'ab'.repeat(20)}` }

export function startProductionGateway(given: Readonly<Record<string, string>> = {}) {
  // Production refuses the development keys of x402.
  const {
    BASE_URL: _,
    PORT: __,
    X402_SVM_FEE_PAYER_KEY: ___,
    X402_EVM_FACILITATOR_KEY: ____,
    ...variables
  } = process.env
  return startTestGateway({ PAGES_DIR: '' /* those of the build */, ...SELLING, ...variables, ...PRODUCTION, ...given })
}
