import { expect, it } from 'vitest'
import {
  BytesDiffer,
  GatewayError,
  InvalidFilename,
  NameTaken,
  NoAnswer,
  type UploadDetails,
  uploadDetails,
} from '../src/errors.ts'

const refusal = (details?: Record<string, unknown>) =>
  new GatewayError(
    503,
    { error: 'overloaded', message: 'x', hint: 'wait', request_id: 'r', ...(details && { details }) },
    1,
  )

it('ERR-29 FILE-31 an error of the gateway retains its layer, and one without a layer gets it', () => {
  const said: UploadDetails = { layer: 'provider', recovery_hint: 'later', next_best_method: 'GET /x' }
  expect(uploadDetails(refusal({ ...said, more: 1 }))).toEqual(said)
  const own = { layer: 'gateway', recovery_hint: 'wait', next_best_method: 'the same' }
  for (const details of [undefined, {}, { layer: 'other', recovery_hint: 7 }])
    expect(uploadDetails(refusal(details), 'mcp')).toEqual(own)
})

it.each([new InvalidFilename('x'), new BytesDiffer('a', 'b', 'c'), new NoAnswer('x'), new RangeError('x')])(
  'ERR-29 FILE-31 %s belongs to the program that uploads',
  (error) => {
    const advice = { recovery_hint: expect.stringMatching(/\w/), next_best_method: 'the same' }
    expect(uploadDetails(error)).toEqual({ layer: 'app_orchestrator', ...advice })
    expect(uploadDetails(error, 'mcp')).toEqual({ layer: 'mcp', ...advice })
  },
)

it('ERR-29 ADD-60 an existing name is an error of the gateway', () => {
  expect(uploadDetails(new NameTaken('a'))).toMatchObject({ layer: 'gateway' })
})
