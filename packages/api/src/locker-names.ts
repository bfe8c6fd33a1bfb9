// The names that people give to lockers. A name is one of the locker's tags, which its owner and operators can see.

export const NAME_TAG = 'name:'

/** The name among the tags of a locker. The owner chose it. Null if there is none. */
export function lockerName(tags: readonly string[]): string | null {
  return tags.find((tag) => tag.startsWith(NAME_TAG))?.slice(NAME_TAG.length) || null
}
