/** Builds the text of a JSON object, member by member, each value being JSON already. */
export class ObjectText {
  #members = '';

  get isEmpty(): boolean {
    return this.#members === '';
  }

  /** Nothing where there is no value. */
  add(key: string, json: string | undefined): this {
    if (json === undefined) return this;
    const comma = this.#members === '' ? '' : ',';
    this.#members += `${comma}${JSON.stringify(key)}:${json}`;
    return this;
  }

  toString(): string {
    return `{${this.#members}}`;
  }
}
