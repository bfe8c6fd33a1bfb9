import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, must } from '@svc/devnet/properties/rules'
import { S3Error } from '@svc/s3/errors'
import { writeXml } from '@svc/s3/xml'
import { expect, it } from 'vitest'
import { readPartList } from '../../../../src/adapters/s3/multipart/part-list.ts'

it('T-129 no made-up input breaks the rules of lists of parts', async () => {
  const parts = [
    { PartNumber: 1, ETag: '"a-1"' },
    { PartNumber: 2, ETag: 'b' },
  ]
  expect(
    await problemWith({
      examples: [writeXml('CompleteMultipartUpload', { Part: parts })],
      words: ['<Part>', '</Part>', '<PartNumber>', '<ETag>', '</ETag>', '10001', '&quot;', '&#0;', '<!--', '-->', '/>'],
      maxBytes: 70_000,
      rule(input) {
        const numbers = accepted(S3Error, () => readPartList(input))?.map(({ number }) => number) ?? []
        must(
          numbers.every((number, i) => number >= 1 && number <= 10_000 && number > (numbers[i - 1] ?? 0)),
          'the part numbers are out of order',
        )
      },
    }),
  ).toBeNull()
})
