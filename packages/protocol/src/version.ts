/** The version of this software, in its only place: what is built is stamped with it. The interface has its own. */
export const VERSION = '1.1.0'
