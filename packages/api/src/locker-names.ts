// The names that owners give to lockers and to their operators. A name is one of the locker's tags, which its owner and
// operators can see.

export const NAME_TAG = 'name:'

/** The name among the tags of a locker. The owner chose it. Null if there is none. */
export function lockerName(tags: readonly string[]): string | null {
  return tags.find((tag) => tag.startsWith(NAME_TAG))?.slice(NAME_TAG.length) || null
}

/** The beginning of the tag with the name of an operator. */
export function operatorTag(key: string): string {
  return `operator:${key} `
}

/** The name that the owner gave to an operator. Null if there is none. */
export function operatorName(tags: readonly string[], key: string): string | null {
  const start = operatorTag(key)
  return tags.find((tag) => tag.startsWith(start))?.slice(start.length) || null
}
