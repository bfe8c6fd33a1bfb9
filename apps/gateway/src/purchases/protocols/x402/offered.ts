// The extensions of x402 that the header of an offer announces. Clients send them back with their signature, and headers
// are limited (ADD-01), so they are short. Signed offers are in the body.

export const ANNOUNCED = {
  /** A client may name its purchase; the same name is paid once (`payment-identifier.ts`). */
  'payment-identifier': {
    info: { required: false },
    schema: {
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
      },
      required: ['required'],
    },
  },
  /** For catalogues: how the request is made. The example of the answer is in the interface description. */
  bazaar: {
    info: { input: { type: 'http', method: 'POST', bodyType: 'json', body: { units: 1 } }, output: { type: 'json' } },
    schema: {
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            body: {
              type: 'object',
              properties: { units: { type: 'integer', minimum: 1 }, provider: { type: 'string' } },
            },
          },
        },
      },
      required: ['input'],
    },
  },
}
