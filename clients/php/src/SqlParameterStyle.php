<?php

declare(strict_types=1);

namespace Offbeat;

/** How a predicate holds its bounds. */
enum SqlParameterStyle: string
{
    /** Written into the text: the default. */
    case Literal = 'literal';

    /** A question mark for each: PDO, mysqli, Doctrine, Laravel's whereRaw(). */
    case QuestionMark = 'question_mark';

    /** %s for each, and %% for a percent sign: wpdb. */
    case Format = 'format';

    /** $1, $2 and so on: pg_query_params(). */
    case Dollar = 'dollar';

    /** :offbeat_1, :offbeat_2 and so on: PDO. */
    case Named = 'named';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Literal => V1\SqlParameterStyle::SQL_PARAMETER_STYLE_LITERAL,
            self::QuestionMark => V1\SqlParameterStyle::SQL_PARAMETER_STYLE_QUESTION_MARK,
            self::Format => V1\SqlParameterStyle::SQL_PARAMETER_STYLE_FORMAT,
            self::Dollar => V1\SqlParameterStyle::SQL_PARAMETER_STYLE_DOLLAR,
            self::Named => V1\SqlParameterStyle::SQL_PARAMETER_STYLE_NAMED,
        };
    }
}
