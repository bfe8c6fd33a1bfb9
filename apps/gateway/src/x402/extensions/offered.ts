// The extensions of x402 that offers announce. Clients send them back with their signature, so they are short.

import type { SignOffers } from './offer-receipt.ts'

/** A client may name its purchase; the same name is paid once (`payment-identifier.ts`). */
const PAYMENT_IDENTIFIER = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
}

/** For catalogues: how the request is made. The example of the answer is in the interface description. */
const BAZAAR = {
  info: { input: { type: 'http', method: 'POST', bodyType: 'json', body: { units: 1 } }, output: { type: 'json' } },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      input: {
        type: 'object',
        properties: {
          type: { const: 'http' },
          method: { const: 'POST' },
          bodyType: { const: 'json' },
          body: {
            type: 'object',
            properties: { units: { type: 'integer', minimum: 1 }, provider: { type: 'string' } },
          },
        },
        required: ['type', 'method', 'bodyType', 'body'],
      },
    },
    required: ['input'],
  },
}

const OFFERS_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { offers: { type: 'array' } },
  required: ['offers'],
}

export function offeredExtensions(offers: Awaited<ReturnType<SignOffers>>) {
  return {
    'payment-identifier': PAYMENT_IDENTIFIER,
    ...(offers.length > 0 && { 'offer-receipt': { info: { offers }, schema: OFFERS_SCHEMA } }),
    bazaar: BAZAAR,
  }
}
