import { expect, it } from 'vitest'
import { bucketNames, isBucketName } from '../../../../src/adapters/s3/buckets/bucket-names.ts'
import type { Locker } from '../../../../src/db/schema.ts'

it.each(['abc', 'my-photos', 'a.b-c.d', '2026', 'x'.repeat(63), '1.2.3', 'a--b'])(
  'ADD-44 %s is a valid bucket name',
  (name) => expect(isBucketName(name)).toBe(true),
)

it.each([
  '',
  'ab',
  'Photos',
  'a b',
  '-ab',
  'ab-',
  'a..b',
  'a.-b',
  '.abc',
  'locker_0123456789ab',
  '10.0.0.1',
  'x'.repeat(64),
])('ADD-44 %j is not a valid bucket name', (name) => expect(isBucketName(name)).toBe(false))

it('ADD-44 the first name of a locker names its bucket, unless two lockers share the name', () => {
  const locker = (locker_id: string, ...tags: string[]) => ({ locker_id, tags: JSON.stringify(tags) }) as Locker
  const lockers = [
    locker('locker_1', 'family', 'name:photos', 'name:second'),
    locker('locker_2', 'name:twin'),
    locker('locker_3', 'name:twin'),
    locker('locker_4', 'name:Odd name', 'name:good'),
    locker('locker_5', 'second'),
  ]
  expect(lockers.map(bucketNames(lockers))).toEqual(['photos', 'locker_2', 'locker_3', 'locker_4', 'locker_5'])
})
